import HTTP2Transport
import Settings

/// The settings for APNs of one container: the credential, the app and the connection.
public struct APNsSettings: Sendable, Hashable {
  /// The proof of the sender's identity.
  public enum Credential: Sendable, Hashable {
    /// The team's key, which signs provider tokens. `file` is the path of the `.p8` file. Key ID
    /// and team ID have ten characters each.
    case key(file: String, keyID: String, teamID: String)
    /// The app's certificate and its private key: the paths of two PEM files. One file may contain
    /// both.
    case certificate(file: String, keyFile: String)
  }

  /// The `apns-topic` of each push: the app's bundle ID.
  public var topic: String
  /// The key or certificate.
  public var credential: Credential
  /// The host to connect to; `nil` for Apple's host of each environment.
  public var host: String?
  /// The port; `nil` for 443. Apple's hosts also listen on 2197.
  public var port: Int?
  /// The path of a PEM file with the certificates that the client trusts; `nil` for the system's
  /// certificates.
  public var authorityFile: String?
  /// The proxy, such as `http://USER:PASSWORD@HOST:PORT`; `nil` for none.
  public var proxy: String?
  /// The greatest number of connections to each environment, 1 to 100.
  public var maximumConnections = 4

  /// Creates settings without a proxy and with up to four connections.
  public init(
    topic: String, credential: Credential, host: String? = nil, port: Int? = nil,
    authorityFile: String? = nil
  ) {
    self.topic = topic
    self.credential = credential
    self.host = host
    self.port = port
    self.authorityFile = authorityFile
  }
}

extension APNsSettings {
  /// The keys of the `apns` object of a container.
  package static let table = SettingTable(
    APNsSettings(topic: "", credential: .certificate(file: "", keyFile: "")),
    [
      .init("topic", \.topic, .text, required: true, "The app's bundle ID."),
      .part(
        "teamID", .text, default: "needed with `keyFile`", "The team ID, ten characters."),
      .part("keyID", .text, default: "needed with `keyFile`", "The key ID, ten characters."),
      .part(
        "keyFile", .file(.secret), default: "needed, or `certificateFile`",
        "The `.p8` file from Apple. The server signs the provider tokens of pushes with its key."),
      .part(
        "certificateFile", .file(.secret),
        "The app's certificate in PEM format, instead of a key."),
      .part(
        "certificateKeyFile", .file(.secret), default: "`certificateFile`",
        "The certificate's private key in PEM format, not encrypted."),
      .init(
        "host", \.host, .text, default: "Apple's host of the device's environment",
        "The host to send to, such as that of the [simulator](apns-simulator.md)."),
      .init(
        "port", \.port, .whole(1...65_535), default: "443",
        "The port of the host. Apple's hosts also listen on port 2197."),
      .init(
        "authorityFile", \.authorityFile, .file(.certificates), default: "the system's",
        "The certificates to trust, in PEM format."),
      .part(
        "proxy", .secret,
        "The proxy to connect through, `http://HOST:PORT` or `http://USER:PASSWORD@HOST:PORT`."),
      .part(
        "proxyFile", .file(.secret),
        "A file with that URL, instead of `proxy`. It keeps the password out of `server.json`."),
      .init(
        "maximumConnections", \.maximumConnections, .whole(1...100),
        "The connections that may be open to each environment while the others are full."),
    ], rules: check)

  /// Checks the settings that depend on each other, and reads the credential and the proxy.
  private static func check(
    _ reader: ConfigurationReader, _ apns: inout Self
  ) throws(ConfigurationError) {
    // Topic and host are header fields of each push. APNs would refuse characters that a header
    // field cannot have.
    guard isOnePrintedWord(apns.topic) else {
      throw reader.mistake(
        "topic",
        "'topic' must be a bundle ID such as com.example.app, not \(apns.topic.debugDescription)")
    }
    if let host = apns.host, !isOnePrintedWord(host) {
      throw reader.mistake(
        "host", "'host' must be a host's name or address, not \(host.debugDescription)")
    }
    apns.credential = try Credential(reader)
    guard let proxy = try reader.text("proxy", orIn: "proxyFile") else { return }
    apns.proxy = proxy.text
    do throws(HTTP2Error) {
      _ = try HTTPProxy(parsing: proxy.text)
    } catch {
      throw reader.mistake(proxy.key, "'\(proxy.key)': \(error.reason)")
    }
  }

  /// Whether a text has only printable ASCII characters and no spaces.
  private static func isOnePrintedWord(_ text: String) -> Bool {
    text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }
}

extension APNsSettings.Credential {
  /// Reads either a key or a certificate. Throws if the settings name both or none of them.
  fileprivate init(_ reader: ConfigurationReader) throws(ConfigurationError) {
    guard let certificate = reader.file("certificateFile") else {
      if reader.has("certificateKeyFile") {
        throw reader.mistake(
          "certificateKeyFile", "'certificateKeyFile' needs 'certificateFile' beside it")
      }
      guard reader.text("keyFile")?.isEmpty == false, let file = reader.file("keyFile") else {
        throw reader.mistake(
          "keyFile", "'keyFile' is missing (or 'certificateFile', for a certificate)")
      }
      self = .key(
        file: file, keyID: try reader.required("keyID"), teamID: try reader.required("teamID"))
      return
    }
    for key in ["keyFile", "keyID", "teamID"] where reader.has(key) {
      throw reader.mistake(
        key, "'\(key)' and 'certificateFile' exclude each other: APNs takes a key or a certificate")
    }
    self = .certificate(
      file: certificate, keyFile: reader.file("certificateKeyFile") ?? certificate)
  }
}
