"""A JMX client over HTTP: Jolokia's agent in the JVM is asked in JSON.

Its protocols are 7.2 and 8.0, those of the agents 1.7.2 and 2.1.1.

It has the methods of ``client.Client``. What the agents do otherwise than RMI does:

- NaN and infinite numbers are null, also within lists and maps;
- an object of a class that they do not know is what its toString() gives;
- a value that they cannot write as JSON (2.1.1: a text with an escape character, a null as the key of a map)
  spoils the answer to all that was asked with it: that is asked again in parts;
- an agent in a JVM of its own answers one request at a time unless told otherwise ("executor"), so that a
  getter that hangs is the end of all answers. One with several threads loses one to each.
"""
