"""The network: sockets, WebSocket by websockets' Sans-I/O layer, and limits on what clients may cost."""
