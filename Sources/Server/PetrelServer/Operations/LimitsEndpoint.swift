import CloudKitModel
import Foundation
import WebServices

/// `server/limits`: the limits as data. Petrel's own.
struct LimitsEndpoint: Sendable {
  private let answer: Data

  init(_ configuration: ServerConfiguration) {
    answer = LimitsResponse(limits: configuration.clientLimits).body
  }

  func limits(_ context: RequestContext) async throws -> Data { answer }
}
