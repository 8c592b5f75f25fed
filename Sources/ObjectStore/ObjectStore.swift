// Signed requests to an S3-compatible store.
package enum ObjectStore {}
