import CloudKitModel

/// The lookups of the credentials of programs. No method changes the store.
public protocol CredentialReading: Sendable {
  /// Returns the credentials registered for a container's environment, revoked ones too, oldest
  /// first.
  func programCredentials(
    container: String, environment: ContainerEnvironment
  ) async throws -> ProgramCredentials
  /// Returns the credentials of all containers, revoked ones too. The order is by container, then
  /// by age.
  func programCredentials() async throws -> ProgramCredentials
}
