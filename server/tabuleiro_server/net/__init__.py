"""The network: sockets, WebSocket by the Sans-I/O layer of websockets, and limits on what clients may cost.

Three ways to use websockets were measured in one run, in 50, 100 and 200 rooms, each beside commit 76782b4. The
figures are medians, with quartiles in brackets:

| way | moves/s | processor time a move |
|---|---|---|
| its asyncio server, with a reader of our own that looks into its parser (76782b4) | 1 | 1 |
| its asyncio server as it is: `serve`, `send`, `recv` | 0.76 (0.61 to 1.07) | 1.44 (1.32 to 1.59) |
| its Sans-I/O `ServerProtocol` in a protocol of asyncio of our own | 0.98 (0.70 to 1.28) | 1.01 (0.96 to 1.07) |

The third is used: it needs documented parts only, and what a client costs is counted as its bytes come.
"""
