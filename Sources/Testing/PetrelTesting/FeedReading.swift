internal import CloudKitModel
internal import HTTPService
internal import PetrelServer
internal import WebServices

/// A request for the changes after a change token, for the fault that the token is too old. The
/// list of changes that a client reads in this way is a *feed*.
struct FeedReading {
  private let request: HTTPRequest
  private let context: MessageContext
  /// The parsed body of a request for several zones, each with its own token or none; nil for other
  /// requests.
  private let zones: ZoneChangesRequest?

  /// The error in the answer, for the request or for each zone with a token.
  private static let failure = ServiceError(
    .changeTokenExpired, "the test asked for this: the change token is too old")

  /// Parses a request. Nil if the request reads no feed, has no change token, or cannot be parsed.
  init?(_ request: HTTPRequest, userRecordName: String?) {
    let context = MessageContext(
      ownerNaming: userRecordName.map { .relative(to: $0) } ?? .explicit)
    self.request = request
    self.context = context
    let body = request.body
    var zones: ZoneChangesRequest?
    let token: String?
    switch Self.read({ try ServicePath(parsing: request.path) })?.operation {
    case "changes/database":
      token = Self.read {
        try DatabaseChangesRequest<CurrentDatabaseChanges>(parsing: body, context: context)
          .syncToken
      }
    case "zones/changes":
      token = Self.read {
        try DatabaseChangesRequest<SupersededDatabaseChanges>(parsing: body, context: context)
          .syncToken
      }
    case "records/changes":
      token = Self.read { try RecordChangesRequest(parsing: body, context: context).syncToken }
    case "notifications/changes":
      token = Self.read { try NotificationChangesRequest(parsing: body).syncToken }
    case "changes/zone":
      zones = Self.read { try ZoneChangesRequest(parsing: body, context: context) }
      token = zones?.zones.lazy.compactMap { Self.token(of: $0) }.first
    default:
      token = nil
    }
    guard token != nil else { return nil }
    self.zones = zones
  }

  /// Returns the parsed value; nil if parsing fails. The service reports the mistake to the caller.
  private static func read<Value>(_ value: () throws -> Value?) -> Value? {
    // The service reports the mistake to the caller.
    try? value()
  }

  private static func token(of zone: Result<RecordChangesRequest, FailedItem>) -> String? {
    read { try zone.get().syncToken }
  }

  /// Returns the answer that refuses the change tokens. In a request for several zones, the answer
  /// has the service's results for the zones without a token.
  func answer(from service: CloudService) async -> HTTPResponse {
    guard let zones else { return HTTPResponse(Self.failure) }
    let answered = zones.zones.filter { Self.token(of: $0) == nil }
    var answers: ArraySlice<Result<RecordChangesResponse, FailedItem>> = []
    if !answered.isEmpty {
      var part = request
      part.body = ZoneChangesRequest(
        zones: answered.compactMap { zone in Self.read { try zone.get() } }
      )
      .body(context: context)
      let response = await service.respond(to: part)
      guard case .data(let body) = response.body,
        let read = Self.read({ try ZoneChangesResponse(parsing: body, context: context) })
      else { return response }
      answers = read.zones[...]
    }
    let merged = zones.zones.map { zone -> Result<RecordChangesResponse, FailedItem> in
      zone.flatMap { zone in
        let refusal = FailedItem(.zone(zone.zoneID), Self.failure)
        guard zone.syncToken == nil, let answer = answers.popFirst() else {
          return .failure(refusal)
        }
        return answer.map { page in
          var page = page
          page.detail = RecordDetail(
            desiredKeys: zone.desiredKeys, numbersAsStrings: zone.numbersAsStrings)
          return page
        }
      }
    }
    return HTTPResponse(
      body: .data(ZoneChangesResponse(zones: merged).body(context: context)))
  }
}
