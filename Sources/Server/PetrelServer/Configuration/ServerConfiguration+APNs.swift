import Foundation
import HTTP2Transport

extension ServerConfiguration.APNs {
  /// Reads the key `apns` of a container.
  init(_ reader: ConfigurationReader) throws(ConfigurationError) {
    try reader.allow([
      "topic", "teamID", "keyID", "keyFile", "certificateFile", "certificateKeyFile", "host",
      "port", "authorityFile", "proxy", "proxyFile", "maximumConnections",
    ])
    // Both stand in header fields of each push, where APNs would refuse what is no field's value.
    let topic = try reader.required("topic")
    guard Self.isOnePrintedWord(topic) else {
      throw reader.mistake(
        "topic",
        "'topic' must be a bundle ID such as com.example.app, not \(topic.debugDescription)")
    }
    let host = try reader.string("host")
    guard host.map(Self.isOnePrintedWord) ?? true else {
      throw reader.mistake(
        "host", "'host' must be a host's name or address, not \((host ?? "").debugDescription)")
    }
    self.init(
      topic: topic, credential: try Credential(reader),
      host: host, port: try reader.int("port", in: 1...65_535),
      authorityFile: try reader.string("authorityFile").map { reader.file($0) })
    maximumConnections = try reader.int("maximumConnections", in: 1...100) ?? maximumConnections
    proxy = try Self.proxy(reader)
    do throws(HTTP2Error) {
      _ = try proxy.map { proxy throws(HTTP2Error) in try HTTPProxy(parsing: proxy) }
    } catch {
      throw reader.mistake("proxy", "'proxy': \(error.reason)")
    }
  }

  private static func isOnePrintedWord(_ text: String) -> Bool {
    text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }
}

extension ServerConfiguration.APNs {
  /// The proxy's URL, from a file where it has a password.
  private static func proxy(_ reader: ConfigurationReader) throws(ConfigurationError) -> String? {
    guard let name = try reader.string("proxyFile") else { return try reader.string("proxy") }
    guard reader.json["proxy"] == nil else {
      throw reader.mistake("proxyFile", "'proxyFile' and 'proxy' exclude each other")
    }
    let file = reader.file(name)
    guard let data = FileManager.default.contents(atPath: file) else {
      throw reader.mistake("proxyFile", "'proxyFile': \(file) cannot be read")
    }
    return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }
}

extension ServerConfiguration.APNs.Credential {
  /// Either a key or a certificate, never both.
  fileprivate init(_ reader: ConfigurationReader) throws(ConfigurationError) {
    guard let certificate = try reader.string("certificateFile") else {
      if reader.json["certificateKeyFile"] != nil {
        throw reader.mistake(
          "certificateKeyFile", "'certificateKeyFile' needs 'certificateFile' beside it")
      }
      guard reader.json["keyFile"] != nil else {
        throw reader.mistake(
          "keyFile", "'keyFile' is missing (or 'certificateFile', for a certificate)")
      }
      self = .key(
        file: reader.file(try reader.required("keyFile")), keyID: try reader.required("keyID"),
        teamID: try reader.required("teamID"))
      return
    }
    for key in ["keyFile", "keyID", "teamID"] where reader.json[key] != nil {
      throw reader.mistake(
        key, "'\(key)' and 'certificateFile' exclude each other: APNs takes a key or a certificate")
    }
    self = .certificate(
      file: reader.file(certificate),
      keyFile: reader.file(try reader.string("certificateKeyFile") ?? certificate))
  }
}
