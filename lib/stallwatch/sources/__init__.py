"""How to talk to servers, files and the host. Nothing here knows of checks or thresholds."""
