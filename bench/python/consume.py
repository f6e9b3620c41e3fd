"""One run of the Python SDK against the replayer: `consume.py stream|permissions <replayer>`.

Prints one line of JSON about the run: what was delivered, and the time, processor time and memory it took.
The clocks start when everything is loaded, right before the conversation is started.
"""

import asyncio
import json
import re
import sys
import time

from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    PermissionResultAllow,
    ResultMessage,
    StreamEvent,
)


async def allow(_tool, tool_input, _context):
    return PermissionResultAllow(updated_input=tool_input)


def memory_kb(field):
    with open("/proc/self/status", encoding="utf-8") as status:
        return int(re.search(rf"^{field}:\s+(\d+)", status.read(), re.MULTILINE).group(1))


async def main(replayer):
    options = ClaudeAgentOptions(
        cli_path=replayer, include_partial_messages=True, can_use_tool=allow
    )
    messages = deltas = 0
    wall = time.perf_counter_ns()
    cpu = time.process_time_ns()
    async with ClaudeSDKClient(options) as client:
        await client.query("go")
        async for message in client.receive_messages():
            messages += 1
            if isinstance(message, StreamEvent):
                deltas += message.event["type"] == "content_block_delta"
            elif isinstance(message, ResultMessage):
                break
        run = {
            "messages": messages,
            "deltas": deltas,
            "wall_ns": time.perf_counter_ns() - wall,
            "cpu_ns": time.process_time_ns() - cpu,
            "peak_kb": memory_kb("VmHWM"),
        }
    print(json.dumps(run), flush=True)


asyncio.run(main(sys.argv[2]))
