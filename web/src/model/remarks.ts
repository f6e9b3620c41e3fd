/** Remarks are told in the machine's words; those with a meaning of their own get it back, to be shown in any language. */

/** What a remark says, by the machine's words for it. */
export function remarkOf(subtype: string, content: string): { subtype: string; text: string } {
  switch (subtype) {
    case "divider":
      return { subtype: content.includes("could not be resumed") ? "divider_lost" : "divider", text: "" };
    case "cancelled":
    case "rewound":
    case "resumed":
    case "paused_idle_timeout":
    case "paused_manual":
    case "paused_server_shutdown":
      return { subtype, text: "" };
    case "resume":
      return { subtype: "resumed_fresh", text: "" };
    case "revoked":
      return { subtype, text: content.replace(/^asks again: /, "") };
    case "damage": {
      const [, from, to] = /bytes (\d+) to (\d+)/.exec(content) ?? [];
      return { subtype, text: from && to ? `${from}–${to}` : content };
    }
    case "task": {
      const [, status, summary] = /^background task (\w+): (.*)$/s.exec(content) ?? [];
      return status && summary ? { subtype: `task_${status}`, text: summary } : { subtype: "text", text: content };
    }
    default:
      return { subtype, text: content };
  }
}
