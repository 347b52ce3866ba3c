import HTTPService
import Storage
import WebServices

/// A path of the server, with what has to be known of its requests before their bodies are read.
///
/// ```swift
/// Route("/aps", "aps", origins: .any, waits: true) { head, info in … }
/// Route("/console/{file...}", "console", isPage: true) { head, info in … }
/// ```
package final class Route: Sendable {
  package typealias Handler = @Sendable (HTTPRequest, RequestInfo) async -> HTTPDecision

  /// The pages that may send requests to a path and read the answers.
  package enum Origins: Sendable {
    /// Pages of any origin (``CrossOrigin``). The server reads no cookie there.
    case any
    /// The server's own pages.
    case own
  }

  /// The name of requests in metrics.
  package enum Name: Sendable, ExpressibleByStringLiteral {
    case fixed(String)
    /// A name that depends on the path as the client sent it, with its escapes. The set of these
    /// names is fixed, so that requests with invented paths do not create new ones.
    case ofPath(@Sendable (String) -> String)
    /// Requests are neither measured nor logged.
    case unmeasured

    package init(stringLiteral name: String) { self = .fixed(name) }
  }

  /// The path: exact, or with `{rest...}` at its end for the path itself and all paths below.
  package let pattern: String
  /// The method; nil for all.
  let method: String?
  let name: Name
  package let rules: RequestRules
  let origins: Origins
  /// Whether people use it with a browser. The body may then be a form, and the answer does not have the
  /// identifier of the request.
  let isPage: Bool
  /// Whether requests wait by design, such as a long poll.
  let waits: Bool
  private let handler: Handler

  /// The path without `{rest...}`.
  private let path: String
  private let hasRest: Bool

  package init(
    _ pattern: String, _ name: Name, method: String? = nil, body: RequestRules.Body = .small,
    mayUseReserve: Bool = false, mayBeOverdue: Bool = false, origins: Origins = .own,
    isPage: Bool = false, waits: Bool = false, handler: @escaping Handler
  ) {
    self.pattern = pattern
    self.method = method
    self.name = name
    rules = RequestRules(body: body, mayUseReserve: mayUseReserve, mayBeOverdue: mayBeOverdue)
    self.origins = origins
    self.isPage = isPage
    self.waits = waits
    self.handler = handler
    let rest = pattern.range(of: "/{")
    hasRest = rest != nil
    path = rest.map { String(pattern[..<$0.lowerBound]) } ?? pattern
  }

  /// Whether the route is for requests with this method and this path (decoded, without its query).
  func takes(_ method: String, _ path: String) -> Bool {
    // A comparison of texts would normalize the path, which is not checked yet.
    guard self.method.map({ $0 == method }) ?? true, path.utf8.starts(with: self.path.utf8)
    else { return false }
    guard let next = path.utf8.dropFirst(self.path.utf8.count).first else { return true }
    return hasRest && next == UInt8(ascii: "/")
  }

  /// Returns the name of a request in metrics; nil if it is not measured.
  package func metricsName(ofPath path: String) -> String? {
    switch name {
    case .fixed(let name): name
    case .ofPath(let name): name(path)
    case .unmeasured: nil
    }
  }

  /// The same route behind a check that refuses requests: `refusal` returns the answer, or nil.
  package func behind(_ refusal: @escaping @Sendable (HTTPRequest) -> HTTPResponse?) -> Route {
    Route(
      pattern, name, method: method, body: rules.body, mayUseReserve: rules.mayUseReserve,
      mayBeOverdue: rules.mayBeOverdue, origins: origins, isPage: isPage, waits: waits
    ) { [handler] head, info in
      if let answer = refusal(head) { return .answer(answer) }
      return await handler(head, info)
    }
  }

  /// Decides about a request by its head, after the check of its texts. All errors become answers.
  ///
  /// A cancellation of the task ends the reads of the store, except for a request that waits: nobody
  /// reads its answer then, but the reader's next one.
  func decide(_ head: HTTPRequest, _ info: RequestInfo) async -> HTTPDecision {
    do throws(ServiceError) {
      try head.checkTexts()
    } catch {
      return .answer(HTTPResponse(error))
    }
    if waits { return await handler(head, info) }
    let decision = await AbandonableReads.within { await handler(head, info) }
    guard case .receive(let account, let answer) = decision else { return decision }
    return .receive(account: account) { [isPage] request in
      do throws(ServiceError) {
        if isPage { try request.checkForm() }
      } catch {
        return HTTPResponse(error)
      }
      return await AbandonableReads.within { await answer(request) }
    }
  }
}
