/** What can be done with a deploy as it stands. What changes the machines asks once more. */
import { useState } from "react";
import { type Act, actsOf, type Deploy } from "@/model/deploy";
import { actOn } from "@/store/deploy-acts";
import { useRight } from "@/store/rights";
import { useText } from "@/store/text";
import { Confirm } from "@/ui/ask";
import { Button } from "@/ui/button";
import { errorText } from "@/ui/label";
import { useOnce } from "@/ui/once";

export interface ActsProps {
  deploy: Deploy;
  isOnline: boolean;
  again: () => void;
}

const MAIN: readonly Act[] = ["prepare", "confirm", "go"];

export function Acts({ deploy, isOnline, again }: ActsProps) {
  const text = useText();
  const isAdmin = useRight("admin");
  const { isBusy, once } = useOnce();
  const [isAlone, setAlone] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const acts = actsOf(deploy);
  const act = (one: Act) =>
    once(async () => {
      setError(null);
      try {
        await actOn(deploy.deviceId, one, !isAlone);
      } catch (failure) {
        setError(errorText(text, failure));
      }
      again();
    });
  if (!isAdmin) return <p className="text-[13.5px] text-muted">{text.deploy.noRight}</p>;
  return (
    <div className="flex flex-col gap-3">
      {acts.includes("prepare") && (
        <label className="flex min-h-11 items-center gap-2.5 text-[14px] lg:min-h-8">
          <input
            type="checkbox"
            checked={isAlone}
            onChange={(event) => setAlone(event.target.checked)}
            className="size-4 accent-accent"
          />
          {text.deploy.alone}
        </label>
      )}
      {acts.length > 0 && (
        <div className="flex flex-wrap gap-2">
          {acts.map((one) => (
            <Button
              key={one}
              kind={MAIN.includes(one) ? "main" : one === "cancel" ? "danger" : "plain"}
              disabled={isBusy || !isOnline}
              onClick={() => (one === "go" ? setAsking(true) : act(one))}
            >
              {one === "confirm" && deploy.phase === "preparing" ? text.deploy.approve : text.deploy.act[one]}
            </Button>
          ))}
        </div>
      )}
      {error && (
        <p role="alert" className="text-[13.5px] text-red">
          {error}
        </p>
      )}
      {isAsking && (
        <Confirm
          title={text.deploy.act.go}
          question={text.deploy.goSure}
          yes={text.deploy.goYes}
          close={() => setAsking(false)}
          act={() => act("go")}
        />
      )}
    </div>
  );
}
