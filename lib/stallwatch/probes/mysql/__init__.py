"""What every probe of a MySQL server asks it: status variables, settings, InnoDB's metrics, processes."""
