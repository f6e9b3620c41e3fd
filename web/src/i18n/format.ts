/** Numbers, money, durations and moments in the way of a language. Pure; the present comes in as an argument. */
import type { Language } from ".";

export interface Formats {
  /** `4 s`, `2 min`, `3 h`, `5 d`: one unit, rounded down. */
  duration(ms: number): string;
  /** Like `duration`, with tenths below ten seconds. */
  fine(ms: number): string;
  /** How long ago, as short as `duration`; now is a word of the language. */
  age(at: number, now: number): string;
  clock(at: number): string;
  moment(at: number): string;
  /** A day that is written `YYYY-MM-DD`. */
  day(key: string): string;
  count(value: number): string;
  /** A size on the disk, in one unit. */
  bytes(value: number): string;
  compact(value: number): string;
  money(usd: number): string;
  /** A part of one, in whole hundredths. */
  percent(part: number): string;
}

const SIZES = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"];

const cache = new Map<Language, Formats>();

export function formatsOf(language: Language): Formats {
  const known = cache.get(language);
  if (known) return known;
  const made = make(language);
  cache.set(language, made);
  return made;
}

function make(language: Language): Formats {
  const unit = (name: string, digits = 0) =>
    new Intl.NumberFormat(language, { style: "unit", unit: name, unitDisplay: "short", maximumFractionDigits: digits });
  const units = {
    second: unit("second"),
    fine: unit("second", 1),
    minute: unit("minute"),
    hour: unit("hour"),
    day: unit("day"),
  };
  const relative = new Intl.RelativeTimeFormat(language, { numeric: "auto", style: "narrow" });
  const clock = new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit" });
  const moment = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });
  const day = new Intl.DateTimeFormat(language, { month: "short", day: "numeric", timeZone: "UTC" });
  const count = new Intl.NumberFormat(language);
  const compact = new Intl.NumberFormat(language, { notation: "compact", maximumFractionDigits: 1 });
  const percent = new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: 0 });
  const money = (digits: number) =>
    new Intl.NumberFormat(language, {
      style: "currency",
      currency: "USD",
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
    });
  const [small, usual] = [money(4), money(2)];
  const duration = (ms: number) => {
    const seconds = Math.max(0, Math.floor(ms / 1_000));
    if (seconds < 60) return units.second.format(seconds);
    if (seconds < 3_600) return units.minute.format(Math.floor(seconds / 60));
    if (seconds < 86_400) return units.hour.format(Math.floor(seconds / 3_600));
    return units.day.format(Math.floor(seconds / 86_400));
  };
  return {
    duration,
    fine: (ms) => (ms < 10_000 ? units.fine.format(Math.max(0, ms) / 1_000) : duration(ms)),
    age: (at, now) => (now - at < 60_000 ? relative.format(0, "second") : duration(now - at)),
    clock: (at) => clock.format(at),
    moment: (at) => moment.format(at),
    day: (key) => {
      const at = Date.parse(`${key}T00:00:00Z`);
      return Number.isNaN(at) ? key : day.format(at);
    },
    count: (value) => count.format(value),
    bytes: (value) => {
      const step = Math.min(SIZES.length - 1, value < 1 ? 0 : Math.floor(Math.log10(value) / 3));
      return unit(SIZES[step] ?? "byte", step === 0 ? 0 : 1).format(value / 1_000 ** step);
    },
    compact: (value) => compact.format(value),
    money: (usd) => (usd < 0.1 ? small : usual).format(usd),
    percent: (part) => percent.format(part),
  };
}
