import CloudKitModel
import Foundation
import WebServices

/// The endpoint of `records/resolve` and `records/accept`.
///
/// An owner can save shares, but this server does not let others join them yet. Each item fails with
/// the reason code `NOT_SUPPORTED`.
struct SharesEndpoint: Sendable {
  var operations: [Operation] {
    let details = "Each item fails with the reason code NOT_SUPPORTED: nobody can join a share yet."
    let answer = "One item for each short GUID, in order."
    return [
      Operation(
        "records/resolve", of: .anyDatabase, for: .users, .reads, refuse,
        .init("Sharing", "Look at shares by their short GUIDs", details, answer: answer)),
      Operation(
        "records/accept", of: .anyDatabase, for: .users, .changes, refuse,
        .init("Sharing", "Take part in shares", details, answer: answer)),
    ]
  }

  /// Answers both operations: each item fails.
  private func refuse(
    _ request: ResolveSharesRequest, _ context: RequestContext
  ) -> SharesResponse {
    SharesResponse(
      results: request.items.map { item in
        .failure(FailedItem(.share(shortGUID: item.shortGUID), Self.refusal))
      })
  }

  /// The error of each item.
  private static var refusal: ServiceError {
    ServiceError(.notSupported, "this server does not let users join shares yet")
  }
}
