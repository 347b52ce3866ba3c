import CloudKitModel
import Cryptography

extension APNsSimulator {
  /// Where a simulator listens, whom it trusts, and how it limits its clients.
  public struct Configuration: Sendable {
    /// The IP address to listen on.
    public var host = "127.0.0.1"
    /// Zero for any free port; ``APNsSimulator/port`` says which.
    public var port = 0
    /// The names and addresses in the server's certificate.
    public var certificateHosts = ["localhost", "127.0.0.1", "::1"]
    /// Issues the server's certificate; nil for a new one with each start.
    public var authority: CertificateAuthority?
    /// The file to which the authority's certificate is written, for senders to trust.
    public var authorityCertificatePath: String?

    /// The keys that provider tokens may be signed with; nil takes tokens of any key, unverified.
    public var keys: [ProviderKey]?
    /// Which of Apple's two services it stands in for.
    public var environment: ContainerEnvironment = .development

    /// The authority, PEM, whose certificates clients may show instead of provider tokens; nil if
    /// they are not asked for any.
    public var clientAuthorityPEM: String?

    /// How many requests a client may have open on one connection. Apple's own limit is reported to
    /// be 1000.
    public var maximumConcurrentStreams = 1000
    /// Whether a new connection may have one open request only, until one with a valid provider
    /// token was answered, as Apple's does.
    public var startsWithOneStream = false
    /// After how many requests a connection is ended with GOAWAY; nil for never.
    public var requestsPerConnection: Int?

    /// What goes wrong, from the first connection on.
    public var script: [APNsFault.Targeted] = []

    /// How many received pushes are kept for inspection; older ones are forgotten.
    public var keptPushes = 10_000
    /// Tells the time.
    public var clock: @Sendable () -> Timestamp = { .now }

    public init() {}
  }
}
