"""What several probes share, whatever they are about."""
