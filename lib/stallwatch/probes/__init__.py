"""What rows, beans and log lines mean. Nothing here knows of options, Nagios or connections."""
