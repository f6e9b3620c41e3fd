// The relay that most people would write: `ws`, JSON.parse, a map of clients, JSON.stringify.
//
//   node relay.mjs <once|each> [status]
//
// "once" writes a message once for all its receivers, "each" anew for each of them. With "status" everybody is told who
// is there whenever somebody joins. It checks no secrets and has no limits.

import { WebSocketServer } from 'ws';

const [mode, status] = process.argv.slice(2);
const devices = new Map();
let nextApp = 100;

function receivers(sender, message) {
  if (message.to !== undefined) {
    const targets = Array.isArray(message.to) ? message.to : [message.to];
    return targets
      .map((target) => devices.get(Number(typeof target === 'object' ? target.deviceId : target)))
      .filter(Boolean);
  }
  const group = message.broadcast ?? (sender.deviceType === 'pylon' ? 'clients' : 'pylons');
  return [...devices.values()].filter((device) => {
    if (device === sender) return false;
    if (group === 'all') return true;
    return group === 'pylons' ? device.deviceType === 'pylon' : device.deviceType === 'app';
  });
}

function describe({ deviceId, deviceType, name, icon, role, connectedAt }) {
  return { deviceId, deviceType, name, icon, role, connectedAt };
}

function deliver(targets, message) {
  const text = mode === 'once' ? JSON.stringify(message) : undefined;
  for (const target of targets) target.socket.send(text ?? JSON.stringify(message));
}

function join(socket, { deviceId, deviceType }) {
  const device = {
    socket,
    deviceId: deviceType === 'pylon' ? deviceId : nextApp++,
    deviceType,
    name: deviceType === 'pylon' ? 'Machine' : 'Phone',
    icon: '📱',
    role: deviceType === 'pylon' ? 'home' : 'client',
    connectedAt: new Date().toISOString(),
  };
  devices.set(device.deviceId, device);
  socket.send(JSON.stringify({ type: 'auth_result', payload: { success: true, device: describe(device) } }));
  if (status) {
    const all = [...devices.values()];
    deliver(all, { type: 'device_status', payload: { devices: all.map(describe) } });
  }
  return device;
}

const server = new WebSocketServer({ host: '127.0.0.1', port: 0, path: '/ws' });

server.on('connection', (socket) => {
  let device;
  socket.on('message', (data) => {
    const message = JSON.parse(data.toString());
    if (message.type === 'auth') {
      device = join(socket, message.payload);
    } else if (device) {
      const { deviceId, deviceType, name, icon } = device;
      message.from = { deviceId, deviceType, name, icon };
      deliver(receivers(device, message), message);
    }
  });
  socket.on('close', () => device && devices.delete(device.deviceId));
  socket.on('error', () => {});
});

server.on('listening', () => {
  const { address, port } = server.address();
  console.log(`listening on ${address}:${port}`);
});
