"""How engines, programs and persons read a report: one module for each output."""
