"""Pure pictures for the Textual client: values in, rows of text and ink out. No terminal, no textual, no I/O."""
