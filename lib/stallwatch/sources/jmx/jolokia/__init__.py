"""JMX over HTTP: Jolokia's agent in the JVM is asked in JSON."""
