import CloudKitModel

/// The names of a request in the log, in the metrics and in its answer.
package struct RequestInfo: Sendable {
  /// The identifier of the request in the log and in the answer's header field ``uuidHeader``. The
  /// notification IDs of the request's changes begin with it.
  package let uuid = RequestUUID()
  /// The name in metrics: that of the operation, or that of the route.
  package let operation: String
  let origins: Route.Origins
  /// Whether a participant of shares sends the request, whose refusals are counted by themselves.
  var isOfParticipant = false

  package init(operation: String, origins: Route.Origins = .own) {
    self.operation = operation
    self.origins = origins
  }

  static let uuidHeader = "X-Apple-Request-UUID"
}
