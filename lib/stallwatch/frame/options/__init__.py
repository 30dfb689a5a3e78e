"""Options that the plugins of one kind of server share."""
