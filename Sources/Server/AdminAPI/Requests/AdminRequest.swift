import CloudKitModel
import DatabaseAPI
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
}

extension HTTPResponse {
  init<Value>(_ value: Value, as shape: AnswerShape<Value>) {
    self.init(json: Data(shape.text(value).utf8))
  }
}

extension AdminRequest {
  /// The body of a request of the protocol: these arguments of this one.
  func protocolBody(_ members: [AdminArgument]) -> Data {
    var writer = JSONWriter()
    writer.object { writer in
      for argument in members {
        if let value = arguments.value(argument) { writer.member(argument.name, value) }
      }
    }
    return writer.data
  }
}
