/** Words about sessions that the agent has saved. */
export const saved = {
  title: (workspace: string) => `Saved sessions of ${workspace}`,
  menu: "Saved sessions",
  menuHelp: "What Claude did in this folder, also without Estelle.",
  help: "Everything Claude Code has saved in this folder, also what you did in a terminal. Read it, then go on with a copy.",
  offline: "Saved sessions can be seen again as soon as the machine is back.",
  none: "Nothing saved here",
  noneHelp: "Sessions that you begin with `claude` in this folder appear here.",
  unnamed: "Without a name",
  byProgram: "begun by a program",
  isHere: "a conversation here",
  more: "Show older ones",
  further: "Read on",
  all: "All saved sessions",
  blank: "Nothing was said in it.",
  goOn: "Go on in a conversation",
  goOnHelp: "A new conversation begins with a copy of it. The session itself stays as it is.",
};
