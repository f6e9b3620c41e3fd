/** Questions of the agent: choices, several where allowed, and an answer of one's own. Nothing is sent by a slip. */
import { useState } from "react";
import type { Answer, Choice, Question } from "@/gen";
import type { Decision } from "@/model/decisions";
import { answerQuestions } from "@/store/acts";
import { useApp } from "@/store/app";
import { useText } from "@/store/text";
import { Button } from "@/ui/button";
import { refusalText } from "@/ui/label";
import { Plain } from "@/ui/plain";

interface Given {
  chosen: readonly string[];
  other: string;
  usesOther: boolean;
}

const NOTHING: Given = { chosen: [], other: "", usesOther: false };

export function Questions({ decision, isSteady }: { decision: Decision; isSteady: boolean }) {
  const text = useText();
  const [given, setGiven] = useState<readonly Given[]>(() => decision.questions.map(() => NOTHING));
  const rights = useApp((app) => (app.phase.name === "online" ? app.phase.rights : null));
  const mayDecide = rights === null || rights.length === 0 || rights.includes("approve");
  const isComplete = given.every((one) => one.chosen.length > 0 || (one.usesOther && one.other.trim() !== ""));
  const change = (index: number, next: Given) => setGiven(given.with(index, next));
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (isComplete && isSteady) answerQuestions(decision, answerOf(decision.questions, given));
      }}
    >
      {decision.questions.map((question, index) => (
        <OneQuestion
          key={question.question}
          question={question}
          name={`${decision.toolUseId}-${index}`}
          given={given[index] ?? NOTHING}
          change={(next) => change(index, next)}
        />
      ))}
      {decision.refusal && (
        <p role="alert" className="text-[13px] text-red">
          {decision.refusal.code === "offline"
            ? text.decision.offline
            : text.decision.failed(refusalText(text, decision.refusal))}
        </p>
      )}
      {!mayDecide && <p className="text-[13px] text-muted">{text.decision.noRight}</p>}
      <Button
        kind="amber"
        type="submit"
        disabled={!isComplete || decision.sent || !mayDecide}
        aria-disabled={!isSteady || undefined}
        className="sm:self-end sm:min-w-32"
      >
        {decision.sent ? text.decision.sending : text.decision.answer}
      </Button>
    </form>
  );
}

interface OneProps {
  question: Question;
  name: string;
  given: Given;
  change: (given: Given) => void;
}

function OneQuestion({ question, name, given, change }: OneProps) {
  const text = useText();
  const isMany = question.multiSelect;
  const toggle = (label: string) => {
    if (!isMany) return change({ ...given, chosen: [label], usesOther: false });
    const chosen = given.chosen.includes(label)
      ? given.chosen.filter((one) => one !== label)
      : [...given.chosen, label];
    change({ ...given, chosen });
  };
  const toggleOther = () =>
    change(isMany ? { ...given, usesOther: !given.usesOther } : { ...given, chosen: [], usesOther: true });
  return (
    <fieldset className="flex flex-col gap-1.5">
      <legend className="mb-1.5">
        <span className="mb-1 block text-[12px] font-semibold uppercase tracking-wide text-faint">
          <Plain text={question.header} />
        </span>
        <span dir="auto" className="text-[15px]">
          <Plain text={question.question} />
        </span>
        {isMany && <span className="ml-2 text-[13px] text-muted">{text.decision.several}</span>}
      </legend>
      {question.options.map((option) => (
        <Option
          key={option.label}
          name={name}
          isMany={isMany}
          isChosen={given.chosen.includes(option.label)}
          label={option.label}
          help={option.description}
          toggle={() => toggle(option.label)}
        />
      ))}
      <Option name={name} isMany={isMany} isChosen={given.usesOther} label={text.decision.other} toggle={toggleOther} />
      {given.usesOther && (
        <input
          autoFocus
          value={given.other}
          aria-label={text.decision.otherHint}
          placeholder={text.decision.otherHint}
          onChange={(event) => change({ ...given, other: event.target.value })}
          className="min-h-11 rounded-md border border-line-strong bg-bg px-3 lg:min-h-9"
        />
      )}
    </fieldset>
  );
}

interface OptionProps {
  name: string;
  isMany: boolean;
  isChosen: boolean;
  label: string;
  help?: string;
  toggle: () => void;
}

function Option({ name, isMany, isChosen, label, help, toggle }: OptionProps) {
  return (
    <label
      className={`flex min-h-11 cursor-pointer items-start gap-3 rounded-md border px-3 py-2.5 text-[14px] leading-snug ${isChosen ? "border-accent bg-accent-soft" : "border-line hover:bg-hover"}`}
    >
      <input
        type={isMany ? "checkbox" : "radio"}
        name={name}
        checked={isChosen}
        onChange={toggle}
        className="mt-0.5 size-4 shrink-0 accent-[var(--accent)]"
      />
      <span className="min-w-0 [overflow-wrap:anywhere]">
        <span dir="auto" className="font-medium">
          <Plain text={label} />
        </span>
        {help && (
          <span dir="auto" className="block text-[13px] text-muted">
            <Plain text={help} />
          </span>
        )}
      </span>
    </label>
  );
}

function answerOf(questions: readonly Question[], given: readonly Given[]): Answer {
  const answers: Record<string, Choice> = {};
  questions.forEach((question, index) => {
    const one = given[index] ?? NOTHING;
    const all = one.usesOther && one.other.trim() !== "" ? [...one.chosen, one.other.trim()] : [...one.chosen];
    answers[question.question] = question.multiSelect ? all : (all[0] ?? "");
  });
  return answers;
}
