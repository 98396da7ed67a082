/** Entry point `stagecraft/inspector`: watching the actors of a runtime. */
export { type FeedBatch, FeedViewer, type Inspectable, type ViewerOptions } from './feed-viewer.js';
export { type MetricsOptions, runtimeMetrics } from './metrics.js';
export { type Inspector, type InspectorOptions, serveInspector } from './serve-inspector.js';
