/** Starts a conversation that discusses and writes tasks: at once with one workspace, by choice with several. */
import { MessagesSquare } from "lucide-react";
import { useLocation } from "wouter";
import { createConversation, tell } from "@/store/acts";
import { useApp } from "@/store/app";
import { useText } from "@/store/text";
import { writeIn } from "@/store/writing";
import { Button } from "@/ui/button";
import { errorText } from "@/ui/label";
import { Menu } from "@/ui/menu";
import { useOnce } from "@/ui/once";

export function Plan() {
  const text = useText();
  const [, go] = useLocation();
  const { isBusy, once } = useOnce();
  const fleet = useApp((app) => app.world.fleet);
  const places = fleet.flatMap((machine) =>
    machine.isOnline
      ? machine.workspaces.map((one) => ({
          deviceId: machine.deviceId,
          workspaceId: one.workspaceId,
          name: one.name,
          help: `${machine.icon} ${machine.name}`,
        }))
      : [],
  );
  const start = ({ deviceId, workspaceId }: { deviceId: number; workspaceId: string }) =>
    once(async () => {
      try {
        const id = await createConversation(deviceId, workspaceId, text.skill.planner, "planner");
        if (id === "") return;
        writeIn(id);
        go(`/c/${encodeURIComponent(id)}`);
      } catch (failure) {
        tell(errorText(text, failure));
      }
    });
  const label = (
    <>
      <MessagesSquare size={16} /> {text.worker.plan}
    </>
  );
  const [first] = places;
  if (!first) return null;
  if (places.length === 1) {
    return (
      <Button disabled={isBusy} title={text.worker.planHelp} onClick={() => start(first)}>
        {label}
      </Button>
    );
  }
  return (
    <Menu
      label={text.worker.plan}
      note={text.worker.planHelp}
      items={places.map((one) => ({ label: one.name, help: one.help, act: () => start(one) }))}
      button={(props) => (
        <Button disabled={isBusy} {...props}>
          {label}
        </Button>
      )}
    />
  );
}
