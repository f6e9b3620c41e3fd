/** The whole page: pairing while this device is unknown, else the shell with its views. */
import { Router } from "wouter";
import { useHashLocation } from "wouter/use-hash-location";
import { Pairing } from "@/features/pairing/pairing";
import { useApp } from "@/store/app";
import { Shell } from "./shell";

export function App() {
  const isKnown = useApp((app) => app.phase.name !== "unpaired" && app.phase.name !== "refused");
  return <Router hook={useHashLocation}>{isKnown ? <Shell /> : <Pairing />}</Router>;
}
