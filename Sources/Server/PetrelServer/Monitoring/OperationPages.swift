import Foundation
import HTTPService
import JSONCoding
import Measuring
import Synchronization

/// The pages for monitoring: `/metrics`, `/health/live` and `/health/ready`.
///
/// The server answers requests for these pages before it checks for damage of the store, so the
/// pages work with a damaged store too.
final class OperationPages: Sendable {
  /// The rules of access. ``reload(_:)`` replaces them.
  private let currentAccess: Mutex<OperatorAccess>
  /// Returns the metrics; nil while the server does not run.
  private let metrics: @Sendable () async -> MetricsPage?
  private let health: ServerHealth

  /// Creates the pages.
  ///
  /// - Parameter metrics: collects the metrics for one request; returns nil while the server does
  ///   not run.
  init(
    access: OperatorAccess, health: ServerHealth,
    metrics: @escaping @Sendable () async -> MetricsPage?
  ) {
    currentAccess = Mutex(access)
    self.health = health
    self.metrics = metrics
  }

  private var access: OperatorAccess { currentAccess.withLock { $0 } }

  /// Replaces the rules of access for later requests.
  func reload(_ access: OperatorAccess) {
    currentAccess.withLock { $0 = access }
  }

  /// Returns the answer to a request for one of the pages; nil for any other path.
  func answer(to request: HTTPRequest) async -> HTTPResponse? {
    let path = request.rawPath
    guard path == "/metrics" || path.hasPrefix("/health/") else { return nil }
    guard ["GET", "HEAD"].contains(request.method) else {
      return Self.text(
        405, "\(path) takes GET or HEAD, not \(request.method)", [("Allow", "GET, HEAD")])
    }
    switch path {
    case "/metrics": return await metricsAnswer(to: request)
    case "/health/live": return healthAnswer(health.live(), to: request)
    case "/health/ready": return healthAnswer(await health.ready(), to: request)
    default: return Self.text(404, "no such page: there are /health/live and /health/ready")
    }
  }

  /// Returns the metrics, or 403 to a client without access.
  private func metricsAnswer(to request: HTTPRequest) async -> HTTPResponse {
    guard access.admits(request) else {
      return Self.text(
        403,
        "metrics are for programs on the server's own machine, unless the key 'metrics' of its "
          + "configuration names their network or their token")
    }
    guard let page = await metrics() else { return Self.text(503, "the server is not running") }
    return HTTPResponse(
      headers: [("Content-Type", MetricsPage.mediaType), ("Cache-Control", "no-store")],
      body: .data(Data(page.text.utf8)))
  }

  /// Returns a health report with status 200, or 503 if a part has a fault. Only clients with
  /// access to the metrics see the descriptions of faults.
  private func healthAnswer(_ report: HealthReport, to request: HTTPRequest) -> HTTPResponse {
    HTTPResponse(
      status: report.isGood ? 200 : 503,
      headers: [("Content-Type", "application/json"), ("Cache-Control", "no-store")],
      body: .data(Data((report.json(isDetailed: access.admits(request)).text + "\n").utf8)))
  }

  /// Returns an answer of plain text.
  private static func text(
    _ status: Int, _ text: String, _ headers: [(String, String)] = []
  ) -> HTTPResponse {
    HTTPResponse(
      status: status, headers: [("Content-Type", "text/plain; charset=utf-8")] + headers,
      body: .data(Data((text + "\n").utf8)))
  }
}
