"""Every number of SHOW GLOBAL STATUS: what counts up as rates, what stands at its limit, what is unusual."""
