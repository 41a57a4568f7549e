"""The websockets glue; nothing else here imports websockets."""
