/** Words about machines as a whole: their builds, and reports that they keep. */
export const machineWords = {
  version: {
    title: "Version",
    look: "Look for a new version",
    looking: "Looking…",
    runs: (version: string) => `runs ${version}`,
    unknown: "version unknown",
    nothing: "Nothing is published",
    published: (version: string) => `published: ${version}`,
    same: "up to date",
    other: "this machine runs another one",
    phone: "Phone app",
    desktop: "Desktop app",
  },
  report: {
    title: "Report a fault",
    help: "The report stays on your machine, with its build and the conversation it is about. Nothing is sent anywhere else.",
    what: "What happened, and what did you expect?",
    about: "About:",
    send: "Keep the report",
    kept: (machine: string) => `The report is kept on ${machine}.`,
  },
  tasks: {
    add: "New task",
    title: "Title",
    content: "What is to be done",
    where: "Workspace",
    mark: "Mark as",
    blank: "No text.",
    cut: "The text goes on in its file.",
  },
};
