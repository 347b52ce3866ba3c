import Foundation
import WebServices

extension TokensEndpoint {
  /// Sets the badge of all the caller's devices in the container: the next push that asks for a
  /// badge counts from it. No push is sent for it.
  func badge(_ context: RequestContext) async throws -> Data {
    let recipient = try context.recipient()
    let request = try BadgeRequest(parsing: context.body)
    try await store.setBadge(request.badge, of: recipient)
    return request.body
  }
}
