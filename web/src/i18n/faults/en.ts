/** Words for what did not go as it should: parts of the app that cannot be shown, and lists that are not whole. */
export const faultWords = {
  broken: {
    view: "This view could not be shown",
    row: "This entry could not be shown.",
    card: "Something is asked that cannot be shown here. Reload the page, or answer on another device.",
    help: "Your conversations go on, and what you wrote is kept. Reload the page.",
    part: "A part of the app could not be loaded",
    partHelp: "The connection broke, or there is a new version. Reload the page; what you wrote is kept.",
    machineSays: "The machine says:",
    reload: "Reload the page",
    details: "Details",
  },
};
