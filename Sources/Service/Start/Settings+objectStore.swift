// The object store that the settings name.
import ObjectStore
import Outbound
import ServiceConfiguration

extension Settings {
    /// Returns nil where attachments stay in PostgreSQL.
    ///
    /// - Parameter transferCountMax: requests at once; more wait.
    func makeObjectStore(transferCountMax: Int) throws -> ObjectStore? {
        guard let s3Endpoint, let s3Bucket, let s3AccessKey, let s3SecretKey else { return nil }
        let bucket = ObjectStoreSettings(
            endpoint: s3Endpoint, bucket: s3Bucket, region: s3Region, accessKey: s3AccessKey, secretKey: s3SecretKey,
            usesPathStyle: s3UsesPathStyle)
        return ObjectStore(bucket, outbound: try Outbound(caFile: caFile, inFlightMax: transferCountMax))
    }
}
