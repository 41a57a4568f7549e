"""The Textual client: the only package that imports textual. It sits on link and mirror and holds no rules."""
