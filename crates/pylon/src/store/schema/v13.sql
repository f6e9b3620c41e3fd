-- The pictures that a call gave, in the order of the entry that names them: a JSON array of Base64.
ALTER TABLE tool_calls ADD COLUMN images TEXT;
