/** Words about files that go with a message. */
export const attach = {
  button: "Attach files",
  camera: "Take a photo",
  files: "Photos and files",
  list: "Files for the next message",
  drop: "Drop files here to attach them",
  /** Said for a person who sends files without a word, because the agent needs one. */
  alone: "See the attached files.",
  waiting: "waits for its turn",
  offline: "waits for the machine",
  progress: (name: string) => `Sending ${name}`,
  remove: (name: string) => `Remove ${name}`,
  retry: "Try again",
  choose: "Choose again",
  hold: "The message can be sent when all files are there.",
  blocked: "Try again or remove what is not there, then the message can be sent.",
  lost: "Interrupted when the page was loaded anew. Choose the file again to go on.",
  unreadable: "The file cannot be read. Choose it again; pack a folder into one file first.",
  noRoom: "There is no room: 64 MiB a file, 1 GiB a conversation. Remove it, or begin a new conversation.",
  damaged: "It did not arrive as it was sent, or was changed meanwhile. Try again.",
  tooLarge: (name: string, mib: number) => `${name} is too large. A file may have ${mib} MiB.`,
  tooMany: (most: number, leftOut: number) =>
    `At most ${most} files go with a message; ${leftOut} ${leftOut === 1 ? "was" : "were"} left out.`,
  ready: (name: string) => `${name} is attached.`,
  failed: (name: string, why: string) => `${name} is not attached. ${why}`,
  sent: "Attached files",
};
