/** What the plan and the API say no with: why, and what to do. */
export const plan = {
  fiveHours: "5-hour limit",
  sevenDays: "Weekly limit",
  other: (window: string) => `Limit “${window}”`,
  reached: (limit: string) => `${limit} reached`,
  near: (limit: string, percent: string) => `${limit}: ${percent} used`,
  nearly: (limit: string) => `${limit} nearly reached`,
  resets: (moment: string, time: string) => `begins anew ${moment}, in ${time}`,
  overage: "Requests are charged beyond the plan now.",
  retrying: (why: string) => `${why} Claude tries again by itself`,
  tryOf: (attempt: number, most: number) => `try ${attempt} of ${most}`,
  inTime: (time: string) => `in ${time}`,
  goOn: "Go on by itself then",
  goOnOff: "Do not go on",
  goesOn: "Goes on by itself when a limit has stopped it.",
  goesOnAt: (moment: string) => `Goes on by itself: ${moment}`,
  didNotGoOn: (why: string) => `Did not go on by itself: ${why}`,
  status: (code: number) => `HTTP ${code}`,
};

/** By `Cause`: what happened, with what to do. */
export const cause = {
  usage_limit: "The plan's limit is reached.",
  rate_limit: "Too many requests at once.",
  unauthorized: "The machine is not signed in to Claude.",
  billing: "The account cannot pay for this.",
  overloaded: "Claude is overloaded.",
  server: "Claude's server failed.",
  network: "The machine cannot reach Claude.",
  invalid_request: "Claude refused the request.",
  model_not_found: "The model is not available.",
  budget: "The budget is used up.",
  max_turns: "The limit of steps is reached.",
  aborted: "It was broken off.",
  other: "It did not work.",
};

export const causeHelp: typeof cause = {
  usage_limit: "Nothing is lost. Send your message again once the limit begins anew, or choose another model.",
  rate_limit: "Nothing is lost. Wait a minute, then send a message to go on.",
  unauthorized: "Sign in on the machine: run “claude” there and type /login. Then send a message to go on.",
  billing: "Check the account that the machine uses, then send a message to go on.",
  overloaded: "Nothing is lost. Wait a moment, then send a message to go on.",
  server: "Nothing is lost. Wait a moment, then send a message to go on.",
  network: "Check the machine's connection to the internet, then send a message to go on.",
  invalid_request: "If it happens again, start a new session from the menu: the conversation may be too long.",
  model_not_found: "Choose another model from the menu, then send a message to go on.",
  budget: "Raise the budget in the settings of the machine, then send a message to go on.",
  max_turns: "Send a message to go on.",
  aborted: "Send a message to go on.",
  other: "Nothing is lost. Send a message to go on, or start a new session.",
};
