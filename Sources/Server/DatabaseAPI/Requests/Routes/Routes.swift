import HTTPService

/// Every path that the server answers, in the order in which they are compared. No other code compares
/// a path.
package struct Routes: Sendable {
  /// Receives an answer with its request, and the time at which the whole request had arrived.
  package typealias Observer =
    @Sendable (HTTPResponse, HTTPRequest, RequestInfo, ContinuousClock.Instant) -> Void

  private let all: [Route]
  /// The route of the paths that no other one takes.
  private let others: Route
  private let observer: Observer?

  package init(_ all: [Route], others: Route, observer: Observer? = nil) {
    self.all = all
    self.others = others
    self.observer = observer
  }

  /// Returns a table with other routes before these.
  ///
  /// - Parameters:
  ///   - refusal: returns the answer to a request that these routes must not see, such as while the store
  ///     is damaged; nil lets it pass. It does not apply to `first`.
  ///   - observer: receives the answers of the routes whose requests are measured.
  package func after(
    _ first: [Route], unless refusal: @escaping @Sendable (HTTPRequest) -> HTTPResponse?,
    observer: @escaping Observer
  ) -> Routes {
    Routes(
      first + all.map { $0.behind(refusal) }, others: others.behind(refusal), observer: observer)
  }

  /// Returns the route of a request with this method and this path (decoded, without its query).
  package func route(_ method: String, _ path: String) -> Route {
    all.first { $0.takes(method, path) } ?? others
  }

  /// Decides about a request by its head. All errors become answers, and each answer for a program has
  /// the identifier of its request.
  package func examine(_ head: HTTPRequest) async -> HTTPDecision {
    let began = ContinuousClock.now
    let route = route(head.method, head.path)
    let name = route.metricsName(ofPath: head.rawPath)
    let info = RequestInfo(operation: name ?? "", origins: route.origins)
    let observer = name == nil ? nil : observer
    switch await route.decide(head, info) {
    case .answer(let response):
      return .answer(named(response, of: route, info, head, since: began, observer))
    case .receive(let account, let answer):
      let examined = ContinuousClock.now
      return .receive(account: account) { request in
        // The wait for the body is not the server's.
        let began = began + (.now - examined)
        let response = await answer(request)
        return named(response, of: route, info, request, since: began, observer)
      }
    }
  }

  // Not inlined: otherwise a waiting request would keep memory for the values that are created here.
  @inline(never)
  private func named(
    _ response: HTTPResponse, of route: Route, _ info: RequestInfo, _ request: HTTPRequest,
    since began: ContinuousClock.Instant, _ observer: Observer?
  ) -> HTTPResponse {
    var response = response
    if !route.isPage { response.headers.append((RequestInfo.uuidHeader, "\(info.uuid)")) }
    observer?(response, request, info, began)
    return response
  }
}
