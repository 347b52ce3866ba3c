import AdminAPI
import Configuration
import DatabaseAPI
import HTTPService

extension Routes {
  /// The paths of the client API, of the admin API and of the pages for people.
  init(_ client: Reloadable<ClientAPI>, _ admin: AdminService) {
    let operation: Route.Handler = { await client.value.operation($0, $1) }
    let operationName: Route.Name = .ofPath { client.value.operations.metricsName(ofPath: $0) }
    self.init(
      [
        Route(
          "/database/{operation...}", operationName, body: .large, mayBeOverdue: true,
          origins: .any, handler: operation),
        Route(
          "/device/{operation...}", operationName, body: .large, mayBeOverdue: true, origins: .any,
          handler: operation),
        Route("/aps", .fixed(Self.courierName), origins: .any, waits: true) {
          await client.value.courier($0, $1)
        },
        Route("/assets/{upload...}", "assets", method: "POST", body: .file, origins: .any) {
          await client.value.assets($0, $1)
        },
        Route("/assets/{link...}", "assets", body: .large, origins: .any) {
          await client.value.assets($0, $1)
        },
        Route("/sign-in/{page...}", "sign-in", isPage: true) { client.value.signInPage($0, $1) },
        Route("/share/{link...}", "share", isPage: true) { client.value.sharePage($0, $1) },
        Route("/admin/{call...}", "admin", body: .large, mayUseReserve: true) {
          await admin.call($0, $1)
        },
        Route("/console/{file...}", "console", mayUseReserve: true, isPage: true) {
          await admin.page($0, $1)
        },
      ],
      // The client API answers that there is no such path.
      others: Route("/{path...}", .fixed(OperationTable.other), handler: operation))
  }

  /// The name in metrics for polls and event streams of the web courier, whose times do not measure the
  /// server.
  static let courierName = "aps"
}
