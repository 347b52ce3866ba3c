import HTTPService
import Synchronization
import Testing

@testable import DatabaseAPI

struct RouteTests {
  private func route(
    _ pattern: String, method: String? = nil, body: RequestRules.Body = .small
  ) -> Route {
    Route(pattern, "x", method: method, body: body) { _, _ in .answer(HTTPResponse()) }
  }

  @Test(
    "a pattern with a rest takes its path and all below, and one without takes only itself",
    arguments: [
      ("/console/{file...}", "/console", true), ("/console/{file...}", "/console/", true),
      ("/console/{file...}", "/console/a/b", true), ("/console/{file...}", "/consoles", false),
      ("/console/{file...}", "/consol", false), ("/metrics", "/metrics", true),
      ("/metrics", "/metrics/", false), ("/metrics", "/metric", false), ("/metrics", "", false),
      ("/metrics", "/metrics2", false), ("/aps", "/aps\u{301}", false),
    ])
  func patterns(pattern: String, path: String, isTaken: Bool) {
    #expect(route(pattern).takes("GET", path) == isTaken)
  }

  @Test(
    "the first route that takes method and path has the request, and the last one takes all others")
  func order() {
    let routes = Routes(
      [
        route("/assets/{upload...}", method: "POST", body: .file),
        route("/assets/{link...}", body: .large),
      ], others: route("/{path...}"))
    #expect(routes.route("POST", "/assets/x").rules.body == .file)
    #expect(routes.route("GET", "/assets/x").rules.body == .large)
    for path in ["/", "", "*", "/x", "/assetsx"] {
      #expect(routes.route("POST", path).rules.body == .small, "\(path)")
    }
  }

  @Test("a route behind a check answers what the check refuses, and the rest itself")
  func checks() async {
    let guarded = Routes([route("/a")], others: route("/{path...}")).after(
      [route("/health")],
      unless: { $0.query("no") == nil ? nil : HTTPResponse(status: 503) },
      observer: { _, _, _, _ in })
    func status(_ target: String) async -> Int {
      guard
        case .answer(let response) = await guarded.examine(
          HTTPRequest(method: "GET", target: target))
      else { return 0 }
      return response.status
    }
    #expect(await status("/a") == 200)
    #expect(await status("/a?no") == 503)
    #expect(await status("/other?no") == 503)
    #expect(await status("/health?no") == 200)
  }

  @Test("each answer has the identifier of its request, which the observer gets too")
  func identifiers() async {
    let seen = Mutex<[String]>([])
    let routes = Routes([], others: route("/{path...}")).after(
      [], unless: { _ in nil },
      observer: { _, _, info, _ in seen.withLock { $0.append("\(info.uuid)") } })
    for _ in 0..<2 {
      guard
        case .answer(let response) = await routes.examine(
          HTTPRequest(method: "GET", target: "/"))
      else {
        Issue.record("the request was not answered")
        return
      }
      let named = response.headers.filter { $0.0 == "X-Apple-Request-UUID" }.map(\.1)
      #expect(named == [seen.withLock { $0.last ?? "" }])
    }
    #expect(Set(seen.withLock { $0 }).count == 2)
  }
}
