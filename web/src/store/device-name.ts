/** What people call a device: this one is "you", one that is not connected has only its number. */
import { useApp } from "./app";
import { useText } from "./text";

export function useDeviceName(deviceId: number | undefined): string | undefined {
  const text = useText();
  const me = useApp((app) => app.world.me?.deviceId);
  const name = useApp((app) => app.world.devices.find((device) => device.deviceId === deviceId)?.name);
  if (deviceId === undefined) return undefined;
  return deviceId === me ? text.tool.you : (name ?? text.tool.device(deviceId));
}
