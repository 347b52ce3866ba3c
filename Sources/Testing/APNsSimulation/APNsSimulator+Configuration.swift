import CloudKitModel
import Cryptography

extension APNsSimulator {
  /// The settings of a simulator: its address, the credentials that it accepts, and its limits.
  public struct Configuration: Sendable {
    /// The IP address to listen on.
    public var host = "127.0.0.1"
    /// The port to listen on; 0 for any free port, which ``APNsSimulator/port`` returns.
    public var port = 0
    /// The names and addresses in the server's certificate.
    public var certificateHosts = ["localhost", "127.0.0.1", "::1"]
    /// The authority that issues the server's certificate; nil for a new one with each start.
    public var authority: CertificateAuthority?
    /// The file to which the authority's certificate is written, for senders to trust.
    public var authorityCertificatePath: String?

    /// The keys with which provider tokens may be signed. Nil accepts tokens of any key, whose
    /// signatures are then not verified.
    public var keys: [ProviderKey]?
    /// The service of Apple's that the simulator stands in for: development is the sandbox.
    public var environment: ContainerEnvironment = .development

    /// The authority whose certificates clients may show instead of provider tokens, as PEM. Nil
    /// asks for no certificates.
    public var clientAuthorityPEM: String?

    /// The number of requests that a client may have open on one connection. Apple's own limit is
    /// reported to be 1,000.
    public var maximumConcurrentStreams = 1000
    /// Whether a new connection may have only one open request until one with a valid provider
    /// token was answered. Apple's service is reported to do this.
    public var startsWithOneStream = false
    /// The number of requests after which the simulator ends a connection with GOAWAY; nil for no
    /// end.
    public var requestsPerConnection: Int?

    /// The faults, from the first connection on.
    public var script: [APNsFault.Targeted] = []

    /// The number of received pushes that the simulator keeps. Beyond it, it drops the oldest.
    public var keptPushes = 10_000
    /// The clock, for the age of provider tokens and the times of pushes.
    public var clock: @Sendable () -> Timestamp = { .now }

    /// Settings for the sandbox on a free port of the loopback address, without faults. Any
    /// provider token is accepted that has the right form and age.
    public init() {}
  }
}
