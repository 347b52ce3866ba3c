import CloudKitModel
import Foundation
import HTTPService
import JSONCoding

/// A request of the admin API whose sender is known.
struct AdminRequest: Sendable {
  /// What the request is called in the log.
  var uuid = RequestUUID()
  var identity: AdminIdentity
  var arguments: AdminArguments
  var now: Timestamp
  /// The request as it came.
  var http: HTTPRequest

  /// An answer with a JSON object.
  func object(
    status: Int = 200, _ members: (inout JSONWriter) throws -> Void
  ) rethrows -> HTTPResponse {
    var writer = JSONWriter()
    try writer.object(members)
    return HTTPResponse(status: status, json: writer.data)
  }
}

extension JSONWriter {
  /// Milliseconds since 1970, as all times of the admin API.
  mutating func member(_ name: String, _ time: Timestamp) {
    member(name, time.milliseconds)
  }

  /// Writes nothing when there is no time.
  mutating func member(_ name: String, ifPresent time: Timestamp?) {
    if let time { member(name, time) }
  }
}

extension AdminRequest {
  /// The body of a request of the protocol: these arguments of this one.
  func protocolBody(_ names: [String]) throws -> Data {
    var writer = JSONWriter()
    writer.object { writer in
      for name in names {
        if let value = arguments.value(name) { writer.member(name, value) }
      }
    }
    return writer.data
  }
}
