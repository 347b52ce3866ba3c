import CloudKitModel
import WebServices

/// The endpoint of `server/limits`, Petrel's addition: the limits of this server, as data.
struct LimitsEndpoint: Sendable {
  let limits: [ServiceLimit]

  var operations: [Operation] {
    [
      Operation(
        "server/limits", of: .container, for: .everyone, .reads,
        { _ in LimitsResponse(limits: limits) },
        .init(
          "Limits", "The limits that this server enforces, as data",
          "Petrel's own. It needs no signed-in user.", answer: "The limits."))
    ]
  }
}
