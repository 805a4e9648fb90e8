"""The operator table's code generator: rows.py reads the table, the other modules write one kind of output each."""
