import Cryptography
import Foundation
import JSONCoding
import OpenIDConnect

extension ServerConfiguration.SignIn {
  mutating func apply(_ reader: ConfigurationReader) throws(ConfigurationError) {
    try reader.allow(["passwords", "issuers"])
    acceptsPasswords = try reader.bool("passwords") ?? acceptsPasswords
    guard let list = try reader.object("issuers") else { return }
    for name in list.keys {
      guard name.wholeMatch(of: /[a-z0-9-]{1,32}/) != nil else {
        throw list.mistake(
          name, "the name '\(name)' must be 1 to 32 lower-case letters, digits and hyphens")
      }
      guard let issuer = try list.object(name) else { continue }
      issuers[name] = try IssuerSettings(issuer)
    }
  }
}

extension IssuerSettings {
  fileprivate init(_ reader: ConfigurationReader) throws(ConfigurationError) {
    try reader.allow([
      "issuer", "clientID", "clientSecret", "clientSecretFile", "teamID", "keyID", "keyFile",
      "scopes", "label", "responseMode",
    ])
    let issuer = try reader.required("issuer")
    guard Self.isSafe(issuer), !issuer.contains("?") else {
      throw reader.mistake("issuer", "'issuer' must be a URL that begins with https://")
    }
    let credential = try Self.credential(reader)
    let isApples = if case .signed = credential { true } else { false }
    self.init(
      issuer: issuer, clientID: try reader.required("clientID"), credential: credential,
      label: try reader.required("label"))
    if isApples {
      // What Apple has, and how it answers when it is asked for any of it.
      scopes = ["name", "email"]
      responseMode = .formPost
    }
    scopes = try reader.strings("scopes") ?? scopes
    if let mode = try reader.string("responseMode") {
      guard let responseMode = ResponseMode(rawValue: mode) else {
        throw reader.mistake(
          "responseMode", "'responseMode' must be query or form_post, not '\(mode)'")
      }
      self.responseMode = responseMode
    }
  }

  private static func credential(
    _ reader: ConfigurationReader
  ) throws(ConfigurationError) -> Credential {
    let secret = try reader.string("clientSecret")
    let secretFile = try reader.string("clientSecretFile")
    let keyFile = try reader.string("keyFile")
    guard [secret, secretFile, keyFile].compactMap({ $0 }).count <= 1 else {
      throw reader.mistake(
        nil, "only one of 'clientSecret', 'clientSecretFile' and 'keyFile' may be")
    }
    if let secret { return .secret(secret) }
    if let secretFile {
      let text = try content(of: reader.file(secretFile), as: "clientSecretFile", reader)
      return .secret(text.trimmingCharacters(in: .whitespacesAndNewlines))
    }
    guard let keyFile else { return .none }
    let pem = try content(of: reader.file(keyFile), as: "keyFile", reader)
    do {
      _ = try ES256PrivateKey(pem: pem)
    } catch {
      throw reader.mistake("keyFile", "'keyFile' holds no usable key: \(error)")
    }
    return .signed(
      teamID: try reader.required("teamID"), keyID: try reader.required("keyID"), keyPEM: pem)
  }

  private static func content(
    of path: String, as key: String, _ reader: ConfigurationReader
  ) throws(ConfigurationError) -> String {
    guard let data = FileManager.default.contents(atPath: path) else {
      throw reader.mistake(key, "'\(key)': \(path) cannot be read")
    }
    return String(decoding: data, as: UTF8.self)
  }
}

extension ConfigurationReader {
  func strings(_ key: String) throws(ConfigurationError) -> [String]? {
    guard let value = json[key] else { return nil }
    guard let list = value.array, list.allSatisfy({ $0.string != nil }) else {
      throw mistake(key, "'\(key)' must be a list of strings")
    }
    return list.compactMap(\.string)
  }
}
