import CloudKitModel
import Foundation
import JSONCoding

/// The body of `tokens/create` and `tokens/register`.
public struct TokenRequest: Sendable, Hashable {
  /// `development` or `production`; independent of the container's environment. Nil for
  /// `tokens/register` by a client that does not say.
  public var apnsEnvironment: String?
  /// The token to register; nil for `tokens/create`.
  public var apnsToken: String?
  /// Names the client's device, so that its own changes can be recognised.
  public var clientID: String?

  public init(apnsEnvironment: String?, apnsToken: String? = nil, clientID: String? = nil) {
    self.apnsEnvironment = apnsEnvironment
    self.apnsToken = apnsToken
    self.clientID = clientID
  }

  public init(parsing body: Data) throws(ServiceError) {
    let reader = try MessageReader(
      parsing: body, context: MessageContext(ownerNaming: .explicit))
    if let member = try reader.optional("apnsEnvironment") {
      let name = try member.string()
      guard name == "development" || name == "production" else {
        throw member.mistake("'\(name)' must be development or production")
      }
      apnsEnvironment = name
    }
    apnsToken = try reader.optionalString("apnsToken")
    clientID = try reader.optionalString("clientId")
  }

  public var body: Data {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("apnsEnvironment", ifPresent: apnsEnvironment)
      writer.member("apnsToken", ifPresent: apnsToken)
      writer.member("clientId", ifPresent: clientID)
    }
    return writer.data
  }
}

/// The answer of `tokens/create` and `tokens/register`.
public struct TokenResponse: Sendable, Hashable {
  public var apnsEnvironment: String
  public var apnsToken: String
  /// Where to poll for notifications; absent for a device's own APNs token.
  public var webcourierURL: String?

  public init(apnsEnvironment: String, apnsToken: String, webcourierURL: String?) {
    self.apnsEnvironment = apnsEnvironment
    self.apnsToken = apnsToken
    self.webcourierURL = webcourierURL
  }

  public init(parsing body: Data) throws(ServiceError) {
    let reader = try MessageReader(
      parsing: body, context: MessageContext(ownerNaming: .explicit))
    apnsEnvironment = try reader.member("apnsEnvironment").string()
    apnsToken = try reader.member("apnsToken").string()
    webcourierURL = try reader.optionalString("webcourierURL")
  }

  public var body: Data {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("apnsEnvironment", apnsEnvironment)
      writer.member("apnsToken", apnsToken)
      writer.member("webcourierURL", ifPresent: webcourierURL)
    }
    return writer.data
  }
}
