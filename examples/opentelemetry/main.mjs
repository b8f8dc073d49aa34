// Prints the metrics and spans of a short life. A service sends them to its collector instead.

import { metrics, trace } from '@opentelemetry/api';
import {
  ConsoleMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, ConsoleSpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { connect } from 'idsmith/connect';
import { watchIdsmith } from './telemetry.mjs';

const reader = new PeriodicExportingMetricReader({ exporter: new ConsoleMetricExporter() });
const meters = new MeterProvider({ readers: [reader] });
const tracers = new BasicTracerProvider({
  spanProcessors: [new SimpleSpanProcessor(new ConsoleSpanExporter())],
});
metrics.setGlobalMeterProvider(meters);
trace.setGlobalTracerProvider(tracers);
const stop = watchIdsmith();

// A store for this one process. A service names the store that all its processes share.
const ids = await connect(process.env.STORE_URL ?? 'memory:');
const orders = await ids.flakes('orders');
const invoices = await ids.sequence('invoices', { define: { start: 10_000 } });
orders.next();
await invoices.next();
await meters.forceFlush(); // while the lease is held
await ids.close();

stop();
await meters.shutdown();
await tracers.shutdown();
