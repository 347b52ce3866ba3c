import HTTP2Transport
import Settings

/// The settings for APNs of one container: the apps, their credentials and the connection.
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

  /// The bundle IDs of the container's apps, each the `apns-topic` of the pushes to its devices. A device
  /// whose registration names no app gets pushes with the first one.
  public var topics: [String]
  /// The key or certificate of the topics that have none of their own.
  public var credential: Credential?
  /// The keys and certificates of single topics.
  public var topicCredentials: [String: Credential]
  /// The host to connect to; `nil` for Apple's host of each environment.
  public var host: String?
  /// The port; `nil` for 443. Apple's hosts also listen on 2197.
  public var port: Int?
  /// The path of a PEM file with the certificates that the client trusts; `nil` for the system's
  /// certificates.
  public var authorityFile: String?
  /// The proxy, such as `http://USER:PASSWORD@HOST:PORT`; `nil` for none.
  public var proxy: String?
  /// The greatest number of connections for each topic to each environment, 1 to 100.
  public var maximumConnections = 4

  /// Creates settings without a proxy and with up to four connections.
  public init(
    topics: [String], credential: Credential?, topicCredentials: [String: Credential] = [:],
    host: String? = nil, port: Int? = nil, authorityFile: String? = nil
  ) {
    self.topics = topics
    self.credential = credential
    self.topicCredentials = topicCredentials
    self.host = host
    self.port = port
    self.authorityFile = authorityFile
  }

  /// Returns the topic of the pushes to a device; `nil` if the bundle ID is not one of the topics.
  ///
  /// - Parameter bundleID: the bundle ID that the device's registration names; `nil` for none.
  package func topic(ofBundle bundleID: String?) -> String? {
    guard let bundleID else { return topics.first }
    return topics.contains(bundleID) ? bundleID : nil
  }

  /// Returns the key or certificate of a topic; `nil` if the settings have none for it.
  package func credential(of topic: String) -> Credential? {
    topicCredentials[topic] ?? credential
  }

  /// The different keys and certificates of the topics, in the order of the topics.
  var credentials: [Credential] {
    var known: Set<Credential> = []
    return topics.compactMap(credential(of:)).filter { known.insert($0).inserted }
  }

  /// Returns the keys of the configuration that lead from `apns` to the object with a topic's credential.
  func credentialPath(of topic: String) -> [String] {
    topicCredentials[topic] == nil ? [] : ["topicCredentials", topic]
  }

  /// Returns the key or certificate of a topic.
  ///
  /// - Throws: `ConfigurationError` if the settings have none for it. Settings from a configuration file
  ///   always have one.
  func requiredCredential(
    of topic: String, container: String
  ) throws(ConfigurationError) -> Credential {
    guard let credential = credential(of: topic) else {
      throw ConfigurationError(
        "containers: \(container): apns: the topic '\(topic)' has neither a key nor a certificate")
    }
    return credential
  }
}

extension APNsSettings {
  package static let table = SettingTable(
    APNsSettings(topics: [], credential: nil),
    [
      .init(
        "topics", \.topics, bundleIDs, required: true,
        "The bundle IDs of the apps. The first one is for devices that register without one.")
    ] + Credential.parts(keyFileDefault: "needed, or `certificateFile`") + [
      .named(
        "topicCredentials", \.topicCredentials, Credential.table, default: "the key above for all",
        complaint: { _ in nil },
        "Keys and certificates of single topics, by the topic, in place of the key above."),
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
        "The connections that may be open for each topic to each environment while the others are full."
      ),
    ], rules: check)

  private static func check(
    _ reader: ConfigurationReader, _ apns: inout Self
  ) throws(ConfigurationError) {
    guard !apns.topics.isEmpty else {
      throw reader.mistake("topics", "'topics' must have at least one bundle ID")
    }
    var known: Set<String> = []
    for topic in apns.topics where !known.insert(topic).inserted {
      throw reader.mistake("topics", "'topics' has '\(topic)' twice")
    }
    for topic in apns.topicCredentials.keys.sorted() where !known.contains(topic) {
      throw reader.mistake(
        "topicCredentials", "'topicCredentials' has '\(topic)', which is not one of 'topics'")
    }
    // The host is a header field of each push, which cannot have other characters.
    if let host = apns.host, !isOnePrintedWord(host) {
      throw reader.mistake(
        "host", "'host' must be a host's name or address, not \(host.debugDescription)")
    }
    if Credential.isGiven(reader) || apns.topics.contains(where: { apns.credential(of: $0) == nil })
    {
      apns.credential = try Credential(reader)
    }
    guard let proxy = try reader.text("proxy", orIn: "proxyFile") else { return }
    apns.proxy = proxy.text
    do throws(HTTP2Error) {
      _ = try HTTPProxy(parsing: proxy.text)
    } catch {
      throw reader.mistake(proxy.key, "'\(proxy.key)': \(error.reason)")
    }
  }

  /// A list of bundle IDs. A topic is a header field of each push, and APNs would refuse characters that a
  /// header field cannot have.
  private static let bundleIDs = SettingKind.list(
    SettingElements(
      "list of bundle IDs", rule: "must be a list of bundle IDs such as com.example.app",
      allows: isBundleID))

  /// Whether a text can be a bundle ID: 1 to 255 printable ASCII characters without spaces.
  package static func isBundleID(_ text: String) -> Bool {
    (1...255).contains(text.utf8.count) && isOnePrintedWord(text)
  }

  /// Whether a text has only printable ASCII characters and no spaces.
  private static func isOnePrintedWord(_ text: String) -> Bool {
    text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }
}
