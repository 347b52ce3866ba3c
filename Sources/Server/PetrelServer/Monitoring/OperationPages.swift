import Configuration
import DatabaseAPI
import Foundation
import HTTPService
import JSONCoding
import Measuring

/// The pages for monitoring: `/metrics`, `/health/live` and `/health/ready`.
///
/// The server answers requests for these pages before it checks for damage of the store, so the
/// pages work with a damaged store too.
final class OperationPages: Sendable {
  let access: Reloadable<OperatorAccess>
  /// Returns the metrics; nil while the server does not run.
  private let metrics: @Sendable () async -> MetricsPage?
  private let health: ServerHealth

  init(
    access: OperatorAccess, health: ServerHealth,
    metrics: @escaping @Sendable () async -> MetricsPage?
  ) {
    self.access = Reloadable(access)
    self.health = health
    self.metrics = metrics
  }

  /// The paths of the pages. Their requests are not measured.
  var routes: [Route] {
    [
      Route("/metrics", .unmeasured, mayUseReserve: true) { head, _ in
        .answer(await self.page(head) { await self.metricsAnswer(to: head) })
      },
      Route("/health/live", .unmeasured, mayUseReserve: true) { head, _ in
        .answer(await self.page(head) { self.healthAnswer(self.health.live(), to: head) })
      },
      Route("/health/ready", .unmeasured, mayUseReserve: true) { head, _ in
        .answer(await self.page(head) { self.healthAnswer(await self.health.ready(), to: head) })
      },
      Route("/health/{page...}", .unmeasured, mayUseReserve: true) { head, _ in
        .answer(
          await self.page(head) {
            Self.text(404, "no such page: there are /health/live and /health/ready")
          })
      },
    ]
  }

  private func page(
    _ request: HTTPRequest, _ answer: () async -> HTTPResponse
  ) async -> HTTPResponse {
    guard ["GET", "HEAD"].contains(request.method) else {
      return Self.text(
        405, "\(request.rawPath) takes GET or HEAD, not \(request.method)", [("Allow", "GET, HEAD")]
      )
    }
    return await answer()
  }

  /// Returns the metrics, or 403 to a client without access.
  private func metricsAnswer(to request: HTTPRequest) async -> HTTPResponse {
    guard access.value.admits(request) else {
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
      body: .data(Data((report.json(isDetailed: access.value.admits(request)).text + "\n").utf8)))
  }

  private static func text(
    _ status: Int, _ text: String, _ headers: [(String, String)] = []
  ) -> HTTPResponse {
    HTTPResponse(
      status: status, headers: [("Content-Type", "text/plain; charset=utf-8")] + headers,
      body: .data(Data((text + "\n").utf8)))
  }
}
